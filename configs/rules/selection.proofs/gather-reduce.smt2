; gather-reduce: Gather{a}(f:ReduceMean{axes=[b], keepdims=1}(x), i), const(i), rank(i) == 1, a != b => f(Gather{a}(x, i))
; For all dims; 40 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   sum k!2726: [(and (>= k!2726 0) (< k!2726 t0_2_0_d_4))] one_over[t0_2_0_d_4] t0_2_0[i_6, i_7, i_8, (ite (< (t0_3_0 i_9) 0) (+ (t0_3_0 i_9) t0_2_0_d_3) (t0_3_0 i_9)), k!2726]
;     and sum k!2729: [(and (>= k!2729 0) (< k!2729 t0_2_0_d_4))] one_over[t0_2_0_d_4] t0_2_0[i_6, i_7, i_8, (ite (< (t0_3_0 i_9) 0) (+ (t0_3_0 i_9) t0_2_0_d_3) (t0_3_0 i_9)), k!2729]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
