; mean-linear: ReduceMean{[a], keep}(MatMul(x, w)), rank(w) == 2, a < rank(x) - 1 => MatMul(ReduceMean{[a], keep}(x), w)
; For all dims; 6 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!150 k!151: [(and (>= k!150 0) (< k!150 t0_2_0_d_2)) (and (>= k!151 0) (< k!151 t0_2_0_d_1))] one_over[t0_2_0_d_1] t0_2_0[i_5, k!151, k!150] t0_3_0[k!150, i_7]
;     and sum k!156 k!157: [(and (>= k!156 0) (< k!156 t0_2_0_d_1)) (and (>= k!157 0) (< k!157 t0_2_0_d_2))] one_over[t0_2_0_d_1] t0_2_0[i_5, k!156, k!157] t0_3_0[k!157, i_7]
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
