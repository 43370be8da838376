; global-average-mean: GlobalAveragePool(x) => ReduceMean{range(2, rank(x)), 1}(x)
; For all dims; 3 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; Then whole equalities of both sides as the operations define them: 3 of 3, in 3 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   sum k!89 k!90 k!91: [(and (>= k!89 0) (< k!89 t0_1_0_d_4)) (and (>= k!90 0) (< k!90 t0_1_0_d_3)) (and (>= k!91 0) (< k!91 t0_1_0_d_2))] one_over[(* t0_1_0_d_2 t0_1_0_d_3 t0_1_0_d_4)] t0_1_0[i_5, i_6, k!91, k!90, k!89]
;     and sum k!101 k!102 k!103: [(and (>= k!101 0) (< k!101 t0_1_0_d_4)) (and (>= k!102 0) (< k!102 t0_1_0_d_3)) (and (>= k!103 0) (< k!103 t0_1_0_d_2))] one_over[(* t0_1_0_d_2 t0_1_0_d_3 t0_1_0_d_4)] t0_1_0[i_5, i_6, k!103, k!102, k!101]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_1_0/3 i_3 i_4 k0) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_1_0/3 i_3 i_4 k0) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_1_0/3 i_3 i_4 k0)) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_1_0/3 i_3 i_4 k0)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: sums of equal summands are equal
(assert (= r3 r5))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4))))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun f2 (Int) Real)
(declare-fun n3 () Int)
(declare-fun n4 () Int)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
(declare-fun r8 () Real)
; r0 is (let ((a!1 (sum k1 (ite (and (>= k1 0) (< k1 n4)) (t0_1_0/4 i_4 i_5 k0 k1) 0.0)))) (sum k0 (ite (and (>= k0 0) (< k0 n3)) a!1 0.0)))
; r6 is (let ((a!1 (sum k1 (ite (and (>= k1 0) (< k1 n4)) (t0_1_0/4 i_4 i_5 k0 k1) 0.0)))) (sum k0 (ite (and (>= k0 0) (< k0 n3)) a!1 0.0)))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n4 k0)) (>= k1 0) (not (<= n3 k1))) (* (f2 (* n3 n4)) (t0_1_0/4 i_4 i_5 k1 k0)) 0.0))) (sum k0 (sum k1 a!1)))
; r1 is (let ((a!1 (ite (and (>= k0 0) (not (<= n4 k0)) (>= k1 0) (not (<= n3 k1))) (t0_1_0/4 i_4 i_5 k1 k0) 0.0))) (sum k0 (sum k1 a!1)))
; r8 is (let ((a!1 (ite (and (>= k0 0) (not (<= n4 k0)) (>= k1 0) (not (<= n3 k1))) (* (f2 (* n3 n4)) (t0_1_0/4 i_4 i_5 k1 k0)) 0.0))) (sum k0 (sum k1 a!1)))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n4 k0)) (>= k1 0) (not (<= n3 k1))) (t0_1_0/4 i_4 i_5 k1 k0) 0.0))) (sum k0 (sum k1 a!1)))
; axiom: a sum of sums is the sum over the variables of both
(assert (= r0 r1))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (f2 (* n3 n4)) r0) r5))) (=> (= r0 r1) a!1)))
; axiom: a sum of sums is the sum over the variables of both
(assert (= r6 r7))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (f2 (* n3 n4)) r6) r8))) (=> (= r6 r7) a!1)))
; axiom: sums of equal summands are equal
(assert (= r5 r8))
; the two sides
(assert (let ((a!1 (= (* (f2 (* n3 n4)) r0) (* (f2 (* n3 n4)) r6)))) (not a!1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun f6 (Int) Real)
(declare-fun n7 () Int)
(declare-fun n8 () Int)
(declare-fun r9 () Real)
(declare-fun r10 () Real)
(declare-fun r11 () Real)
(declare-fun n12 () Int)
(declare-fun r13 () Real)
(declare-fun r14 () Real)
(declare-fun r15 () Real)
; r4 is (let ((a!1 (sum k2 (ite (and (>= k2 0) (< k2 n8)) (t0_1_0/5 i_5 i_6 k0 k1 k2) 0.0)))) (let ((a!2 (sum k1 (ite (and (>= k1 0) (< k1 n7)) a!1 0.0)))) (sum k0 (ite (and (>= k0 0) (< k0 n3)) a!2 0.0))))
; r13 is (let ((a!1 (sum k2 (ite (and (>= k2 0) (< k2 n8)) (t0_1_0/5 i_5 i_6 k0 k1 k2) 0.0)))) (let ((a!2 (sum k1 (ite (and (>= k1 0) (< k1 n7)) a!1 0.0)))) (sum k0 (ite (and (>= k0 0) (< k0 n3)) a!2 0.0))))
; r9 is (let ((a!1 (ite (and (>= k0 0) (not (<= n8 k0)) (>= k1 0) (not (<= n7 k1)) (>= k2 0) (not (<= n3 k2))) (* (f6 (* n3 n7 n8)) (t0_1_0/5 i_5 i_6 k2 k1 k0)) 0.0))) (sum k0 (sum k1 (sum k2 a!1))))
; r0 is (let ((a!1 (sum k1 (ite (and (>= k1 0) (< k1 n8)) (t0_1_0/5 i_5 i_6 n2 k0 k1) 0.0)))) (sum k0 (ite (and (>= k0 0) (< k0 n7)) a!1 0.0)))
; r1 is (let ((a!1 (ite (and (>= k0 0) (not (<= n8 k0)) (>= k1 0) (not (<= n7 k1))) (t0_1_0/5 i_5 i_6 n2 k1 k0) 0.0))) (sum k0 (sum k1 a!1)))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n8 k0)) (>= k1 0) (not (<= n7 k1)) (>= k2 0) (not (<= n3 k2))) (t0_1_0/5 i_5 i_6 k2 k1 k0) 0.0))) (sum k0 (sum k1 (sum k2 a!1))))
; r15 is (let ((a!1 (ite (and (>= k0 0) (not (<= n8 k0)) (>= k1 0) (not (<= n7 k1)) (>= k2 0) (not (<= n3 k2))) (* (f6 (* n3 n7 n8)) (t0_1_0/5 i_5 i_6 k2 k1 k0)) 0.0))) (sum k0 (sum k1 (sum k2 a!1))))
; r10 is (let ((a!1 (sum k1 (ite (and (>= k1 0) (< k1 n8)) (t0_1_0/5 i_5 i_6 n12 k0 k1) 0.0)))) (sum k0 (ite (and (>= k0 0) (< k0 n7)) a!1 0.0)))
; r11 is (let ((a!1 (ite (and (>= k0 0) (not (<= n8 k0)) (>= k1 0) (not (<= n7 k1))) (t0_1_0/5 i_5 i_6 n12 k1 k0) 0.0))) (sum k0 (sum k1 a!1)))
; r14 is (let ((a!1 (ite (and (>= k0 0) (not (<= n8 k0)) (>= k1 0) (not (<= n7 k1)) (>= k2 0) (not (<= n3 k2))) (t0_1_0/5 i_5 i_6 k2 k1 k0) 0.0))) (sum k0 (sum k1 (sum k2 a!1))))
; axiom: a sum of sums is the sum over the variables of both
(assert (= r0 r1))
; axiom: a sum of sums is the sum over the variables of both
(assert (=> (=> (and (>= n2 0) (< n2 n3)) (= r0 r1)) (= r4 r5)))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (f6 (* n3 n7 n8)) r4) r9))) (=> (= r4 r5) a!1)))
; axiom: a sum of sums is the sum over the variables of both
(assert (= r10 r11))
; axiom: a sum of sums is the sum over the variables of both
(assert (=> (=> (and (>= n12 0) (< n12 n3)) (= r10 r11)) (= r13 r14)))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (f6 (* n3 n7 n8)) r13) r15))) (=> (= r13 r14) a!1)))
; axiom: sums of equal summands are equal
(assert (= r9 r15))
; the two sides
(assert (let ((a!1 (= (* (f6 (* n3 n7 n8)) r4) (* (f6 (* n3 n7 n8)) r13)))) (not a!1)))
(check-sat)
(pop)
