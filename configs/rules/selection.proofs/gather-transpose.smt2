; gather-transpose: Gather{a}(Transpose{p}(x), i), const(i), rank(i) == 1 => Transpose{p}(Gather{p[a]}(x, i))
; For all dims; 23 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_2_0[i_4, i_5, (ite (< (t0_3_0 i_6) 0) (+ (t0_3_0 i_6) t0_2_0_d_2) (t0_3_0 i_6))]
;     and t0_2_0[i_4, i_5, (ite (< (t0_3_0 i_6) 0) (+ (t0_3_0 i_6) t0_2_0_d_2) (t0_3_0 i_6))]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
