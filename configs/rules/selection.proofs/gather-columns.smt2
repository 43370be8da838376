; gather-columns: Gather{a}(MatMul(x, w), i), const(i, w), rank(i) == 1, rank(w) == 2, a == rank(x) - 1 => MatMul(x, Gather{1}(w, i))
; For all dims; 5 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!617: [(and (>= k!617 0) (< k!617 t0_2_0_d_4))] t0_2_0[i_8, i_9, i_10, i_11, k!617] t0_3_0[k!617, (ite (< (t0_4_0 i_12) 0) (+ (t0_4_0 i_12) t0_3_0_d_6) (t0_4_0 i_12))]
;     and sum k!619: [(and (>= k!619 0) (< k!619 t0_2_0_d_4))] t0_2_0[i_8, i_9, i_10, i_11, k!619] t0_3_0[k!619, (ite (< (t0_4_0 i_12) 0) (+ (t0_4_0 i_12) t0_3_0_d_6) (t0_4_0 i_12))]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
