; mean-linear: ReduceMean{[a], keep}(MatMul(x, w)), rank(w) == 2, a < rank(x) - 1 => MatMul(ReduceMean{[a], keep}(x), w)
; For all dims; 6 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!146 k!147: [(and (>= k!146 0) (< k!146 t0_2_0_d_2)) (and (>= k!147 0) (< k!147 t0_2_0_d_1))] one_over[t0_2_0_d_1] t0_2_0[i_5, k!147, k!146] t0_3_0[k!146, i_7]
;     and sum k!152 k!153: [(and (>= k!152 0) (< k!152 t0_2_0_d_1)) (and (>= k!153 0) (< k!153 t0_2_0_d_2))] one_over[t0_2_0_d_1] t0_2_0[i_5, k!152, k!153] t0_3_0[k!153, i_7]
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
