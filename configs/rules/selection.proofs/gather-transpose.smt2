; gather-transpose: Gather{a}(Transpose{p}(x), i), const(i), rank(i) == 1 => Transpose{p}(Gather{p[a]}(x, i))
; For all dims; 119 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_2_0[i_5, i_6, i_7, (ite (< (t0_3_0 i_8) 0) (+ (t0_3_0 i_8) t0_2_0_d_3) (t0_3_0 i_8))]
;     and t0_2_0[i_5, i_6, i_7, (ite (< (t0_3_0 i_8) 0) (+ (t0_3_0 i_8) t0_2_0_d_3) (t0_3_0 i_8))]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
