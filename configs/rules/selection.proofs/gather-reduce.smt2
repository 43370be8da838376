; gather-reduce: Gather{a}(f:ReduceMean{axes=[b], keepdims=1}(x), i), const(i), rank(i) == 1, a != b => f(Gather{a}(x, i))
; For all dims; 8 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   sum k!290: [(and (>= k!290 0) (< k!290 t0_2_0_d_2))] one_over[t0_2_0_d_2] t0_2_0[i_4, (ite (< (t0_3_0 i_5) 0) (+ (t0_3_0 i_5) t0_2_0_d_1) (t0_3_0 i_5)), k!290]
;     and sum k!293: [(and (>= k!293 0) (< k!293 t0_2_0_d_2))] one_over[t0_2_0_d_2] t0_2_0[i_4, (ite (< (t0_3_0 i_5) 0) (+ (t0_3_0 i_5) t0_2_0_d_1) (t0_3_0 i_5)), k!293]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
