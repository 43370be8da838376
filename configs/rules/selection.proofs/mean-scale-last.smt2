; mean-scale-last: ReduceMean{[a], keep}(Mul(x, c)), const(c), rank(c) == 1, a < rank(x) - 1, size(c) == x.-1 => Mul(ReduceMean{[a], keep}(x), c)
; For all dims; 20 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!116: [(and (>= k!116 0) (< k!116 t0_2_0_d_3))] one_over[t0_2_0_d_3] t0_2_0[i_6, i_7, i_8, k!116, (ite (= t0_2_0_d_4 1) 0 i_10)] t0_3_0[(ite (= t0_3_0_d_5 1) 0 i_10)]
;     and sum k!119: [(and (>= k!119 0) (< k!119 t0_2_0_d_3))] one_over[t0_2_0_d_3] t0_2_0[i_6, i_7, i_8, k!119, i_10] t0_3_0[i_10]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= (ite (= n1 1) n0 n1) n1)))
(check-sat)
(pop)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(declare-fun n4 () Int)
(assert (= n0 n1))
(assert (and (>= n2 0) (< n2 (ite (= n1 1) n0 n1))))
(assert (let ((a!1 (not (and (>= n3 0) (not (<= n4 n3))))) (a!2 (and (= (ite (= n1 1) 0 n2) n2) (= (ite (= n0 1) 0 n2) n2)))) (not (or a!1 a!2))))
(check-sat)
(pop)
