; gather-unary: Gather{a}(f:Unary(x), i), const(i) => f(Gather{a}(x, i))
; For all dims; 90 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   f0(t0_2_0[i_10, i_11, i_12, i_13, (ite (<= 0 (t0_3_0 i_14 i_15 i_16 i_17 i_18))
;        (t0_3_0 i_14 i_15 i_16 i_17 i_18)
;        (+ (t0_3_0 i_14 i_15 i_16 i_17 i_18) t0_2_0_d_4))])
;     and f0(t0_2_0[i_10, i_11, i_12, i_13, (ite (< (t0_3_0 i_14 i_15 i_16 i_17 i_18) 0)
;        (+ (t0_3_0 i_14 i_15 i_16 i_17 i_18) t0_2_0_d_4)
;        (t0_3_0 i_14 i_15 i_16 i_17 i_18))])
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
