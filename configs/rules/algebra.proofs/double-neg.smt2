; double-neg: Neg(Neg(x)) => x
; For all dims; 6 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_2_0[i_5, i_6, i_7, i_8, i_9]
;     and t0_2_0[i_5, i_6, i_7, i_8, i_9]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
