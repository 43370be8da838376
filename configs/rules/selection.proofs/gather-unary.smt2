; gather-unary: Gather{a}(f:Unary(x), i), const(i) => f(Gather{a}(x, i))
; For all dims; 24 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   f0(t0_2_0[i_6, i_7, (ite (<= 0 (t0_3_0 i_8 i_9 i_10))
;        (t0_3_0 i_8 i_9 i_10)
;        (+ (t0_3_0 i_8 i_9 i_10) t0_2_0_d_2))])
;     and f0(t0_2_0[i_6, i_7, (ite (< (t0_3_0 i_8 i_9 i_10) 0)
;        (+ (t0_3_0 i_8 i_9 i_10) t0_2_0_d_2)
;        (t0_3_0 i_8 i_9 i_10))])
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
