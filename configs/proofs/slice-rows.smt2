; slice-rows: f:Slice{*, axes=[a]}(MatMul(x, y)), rank(x) == rank(y), a == rank(x) - 2 => MatMul(f(x), y)
; For all dims; 3 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 3 conditions.
; The last case is
;   sum k!31: [(and (>= k!31 0) (< k!31 t0_2_0_d_3))] t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_11), (ite (= t0_2_0_d_1 1) 0 i_12), (+ (* i_13 steps_10) starts_8), k!31] t0_3_0[(ite (= t0_3_0_d_4 1) 0 i_11), (ite (= t0_3_0_d_5 1) 0 i_12), k!31, i_14]
;     and sum k!33: [(and (>= k!33 0) (< k!33 t0_2_0_d_3))] t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_11), (ite (= t0_2_0_d_1 1) 0 i_12), (+ (* i_13 steps_10) starts_8), k!33] t0_3_0[(ite (= t0_3_0_d_4 1) 0 i_11), (ite (= t0_3_0_d_5 1) 0 i_12), k!33, i_14]
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(assert (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1)))
(assert (not (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1))))
(check-sat)
(pop)
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
