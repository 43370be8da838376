; mean-scale-last: ReduceMean{[a], keep}(Mul(x, c)), const(c), rank(c) == 1, a < rank(x) - 1, size(c) == x.-1 => Mul(ReduceMean{[a], keep}(x), c)
; For all dims; 6 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!32: [(and (>= k!32 0) (< k!32 t0_2_0_d_1))] one_over[t0_2_0_d_1] t0_2_0[i_4, k!32, (ite (= t0_2_0_d_2 1) 0 i_6)] t0_3_0[(ite (= t0_3_0_d_3 1) 0 i_6)]
;     and sum k!35: [(and (>= k!35 0) (< k!35 t0_2_0_d_1))] one_over[t0_2_0_d_1] t0_2_0[i_4, k!35, i_6] t0_3_0[i_6]
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
