; linear-mean: MatMul(ReduceMean{[a], keep}(x), w), rank(w) == 2, a < rank(x) - 1 => ReduceMean{[a], keep}(MatMul(x, w))
; For all dims; 12 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!451 k!452: [(and (>= k!451 0) (< k!451 t0_2_0_d_2)) (and (>= k!452 0) (< k!452 t0_2_0_d_3))] one_over[t0_2_0_d_2] t0_2_0[i_6, i_7, k!451, k!452] t0_3_0[k!452, i_9]
;     and sum k!458 k!459: [(and (>= k!458 0) (< k!458 t0_2_0_d_3)) (and (>= k!459 0) (< k!459 t0_2_0_d_2))] one_over[t0_2_0_d_2] t0_2_0[i_6, i_7, k!459, k!458] t0_3_0[k!458, i_9]
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
