; transpose-transpose: Transpose{p}(Transpose{q}(x)) => Transpose{permute(q, p)}(x)
; For all dims; 618 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_2_0[i_4, i_5, i_6, i_7]
;     and t0_2_0[i_4, i_5, i_6, i_7]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
