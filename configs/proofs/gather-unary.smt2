; gather-unary: Gather{a}(f:Unary(x), i), const(i) => f(Gather{a}(x, i))
; For all dims; 20 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   f0(t0_2_0[i_5, i_6, i_7, (ite (<= 0 (t0_3_0 i_8)) (t0_3_0 i_8) (+ (t0_3_0 i_8) t0_2_0_d_3))])
;     and f0(t0_2_0[i_5, i_6, i_7, (ite (< (t0_3_0 i_8) 0) (+ (t0_3_0 i_8) t0_2_0_d_3) (t0_3_0 i_8))])
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
