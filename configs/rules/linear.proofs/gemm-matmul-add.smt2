; gemm-matmul-add: Gemm(x, w, c) => Add(MatMul(x, w), c)
; For all dims; 3 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 3 conditions.
; The last case is
;   sum k!24: [(and (>= k!24 0) (< k!24 t0_1_0_d_1))] t0_1_0[i_6, k!24] t0_2_0[k!24, i_7] + t0_3_0[(ite (= t0_3_0_d_4 1) 0 i_6), (ite (= t0_3_0_d_5 1) 0 i_7)]
;     and sum k!26: [(and (>= k!26 0) (< k!26 t0_1_0_d_1))] t0_1_0[i_6, k!26] t0_2_0[k!26, i_7] + t0_3_0[(ite (= t0_3_0_d_4 1) 0 i_6), (ite (= t0_3_0_d_5 1) 0 i_7)]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (or (= n0 n1) (= n0 1) (= n1 1)))
(assert (not (or (= n0 n1) (= n0 1) (= n1 1))))
(check-sat)
(pop)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= (ite (= n0 1) n1 n0) n0))
(assert (not (= n0 (ite (= n0 1) n1 n0))))
(check-sat)
(pop)
