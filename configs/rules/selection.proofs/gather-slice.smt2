; gather-slice: Gather{a}(f:Slice{*, axes=[b]}(x), i), const(i), rank(i) == 1, a != b => f(Gather{a}(x, i))
; For all dims; 8 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   t0_2_0[i_7, (ite (< (t0_3_0 i_8) 0) (+ (t0_3_0 i_8) t0_2_0_d_1) (t0_3_0 i_8)), (+ (* i_9 steps_5) starts_3)]
;     and t0_2_0[i_7, (ite (< (t0_3_0 i_8) 0) (+ (t0_3_0 i_8) t0_2_0_d_1) (t0_3_0 i_8)), (+ (* i_9 steps_5) starts_3)]
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
