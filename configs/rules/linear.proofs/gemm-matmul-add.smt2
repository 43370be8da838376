; gemm-matmul-add: Gemm(x, w, c) => Add(MatMul(x, w), c)
; For all dims; 3 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 3 conditions.
; Then whole equalities of both sides as the operations define them: 3 of 3, in 3 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
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
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
; r0 is (sum k0 (ite (and (>= k0 0) (< k0 t0_1_0_d_1)) (* (t0_1_0/2 i_4 k0) (t0_2_0/2 k0 i_5)) 0.0))
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 t0_1_0_d_1)) (* (t0_1_0/2 i_4 k0) (t0_2_0/2 k0 i_5)) 0.0))
; r1 is (let ((a!1 (ite (and (>= k0 0) (not (<= t0_1_0_d_1 k0))) (* (t0_1_0/2 i_4 k0) (t0_2_0/2 k0 i_5)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* 1.0 r0) r1))
; axiom: sums of equal summands are equal
(assert (= r1 r2))
; the two sides
(assert (not (= (+ (* 1.0 r0) (* 1.0 r3)) (+ r2 r3))))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun f3 (Int) Real)
(declare-fun n4 () Int)
(declare-fun n5 () Int)
; r0 is (sum k0 (ite (and (>= k0 0) (< k0 t0_1_0_d_1)) (* (t0_1_0/2 i_5 k0) (t0_2_0/2 k0 n5)) 0.0))
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 t0_1_0_d_1)) (* (t0_1_0/2 i_5 k0) (t0_2_0/2 k0 n5)) 0.0))
; r1 is (let ((a!1 (ite (and (>= k0 0) (not (<= t0_1_0_d_1 k0))) (* (t0_1_0/2 i_5 k0) (t0_2_0/2 k0 n5)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* 1.0 r0) r1))
; axiom: sums of equal summands are equal
(assert (= r1 r2))
; the two sides
(assert (let ((a!1 (* 1.0 (f3 (ite (= n4 1) 0 n5)))) (a!2 (+ r2 (f3 (ite (= n4 1) 0 n5))))) (not (= (+ (* 1.0 r0) a!1) a!2))))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun f3 (Int Int) Real)
(declare-fun n4 () Int)
(declare-fun n5 () Int)
(declare-fun n6 () Int)
(declare-fun n7 () Int)
; r0 is (sum k0 (ite (and (>= k0 0) (< k0 t0_1_0_d_1)) (* (t0_1_0/2 n5 k0) (t0_2_0/2 k0 n7)) 0.0))
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 t0_1_0_d_1)) (* (t0_1_0/2 n5 k0) (t0_2_0/2 k0 n7)) 0.0))
; r1 is (let ((a!1 (ite (and (>= k0 0) (not (<= t0_1_0_d_1 k0))) (* (t0_1_0/2 n5 k0) (t0_2_0/2 k0 n7)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* 1.0 r0) r1))
; axiom: sums of equal summands are equal
(assert (= r1 r2))
; the two sides
(assert (let ((a!1 (f3 (ite (= n4 1) 0 n5) (ite (= n6 1) 0 n7)))) (not (= (+ (* 1.0 r0) (* 1.0 a!1)) (+ r2 a!1)))))
(check-sat)
(pop)
