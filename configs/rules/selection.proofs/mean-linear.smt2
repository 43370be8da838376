; mean-linear: ReduceMean{[a], keep}(MatMul(x, w)), rank(w) == 2, a < rank(x) - 1 => MatMul(ReduceMean{[a], keep}(x), w)
; For all dims; 20 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!804 k!805: [(and (>= k!804 0) (< k!804 t0_2_0_d_4)) (and (>= k!805 0) (< k!805 t0_2_0_d_3))] one_over[t0_2_0_d_3] t0_2_0[i_7, i_8, i_9, k!805, k!804] t0_3_0[k!804, i_11]
;     and sum k!810 k!811: [(and (>= k!810 0) (< k!810 t0_2_0_d_3)) (and (>= k!811 0) (< k!811 t0_2_0_d_4))] one_over[t0_2_0_d_3] t0_2_0[i_7, i_8, i_9, k!810, k!811] t0_3_0[k!811, i_11]
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
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(assert (let ((a!1 (= (and (>= n0 0) (not (<= n1 n0)) (>= n2 0) (not (<= n3 n2))) (and (>= n2 0) (not (<= n3 n2)) (>= n0 0) (not (<= n1 n0)))))) (not a!1)))
(check-sat)
(pop)
