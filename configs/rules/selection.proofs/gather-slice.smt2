; gather-slice: Gather{a}(f:Slice{*, axes=[b]}(x), i), const(i), rank(i) == 1, a != b => f(Gather{a}(x, i))
; For all dims; 40 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   t0_2_0[i_9, i_10, i_11, (ite (< (t0_3_0 i_12) 0) (+ (t0_3_0 i_12) t0_2_0_d_3) (t0_3_0 i_12)), (+ (* i_13 steps_7) starts_5)]
;     and t0_2_0[i_9, i_10, i_11, (ite (< (t0_3_0 i_12) 0) (+ (t0_3_0 i_12) t0_2_0_d_3) (t0_3_0 i_12)), (+ (* i_13 steps_7) starts_5)]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(assert (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1)))
(assert (not (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1))))
(check-sat)
(pop)
