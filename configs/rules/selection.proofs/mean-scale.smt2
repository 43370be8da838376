; mean-scale: f:ReduceMean{*, axes=[a]}(Mul(x, c)), const(c), size(c) == 1, rank(c) == 0 => Mul(f(x), c)
; For all dims; 30 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; Then whole equalities of both sides as the operations define them: 30 of 30, in 25 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   sum k!638: [(and (>= k!638 0) (< k!638 t0_2_0_d_4))] one_over[t0_2_0_d_4] t0_2_0[i_5, i_6, i_7, i_8, k!638] t0_3_0
;     and sum k!641: [(and (>= k!641 0) (< k!641 t0_2_0_d_4))] one_over[t0_2_0_d_4] t0_2_0[i_5, i_6, i_7, i_8, k!641] t0_3_0
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/1 k0) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/1 k0) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/1 k0) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/1 k0) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/1 k0)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/2 k0 i_2) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/2 k0 i_2) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 k0 i_2) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 k0 i_2) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 k0 i_2)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/2 k0 i_3) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/2 k0 i_3) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 k0 i_3) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 k0 i_3) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 k0 i_3)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/2 i_2 k0) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/2 i_2 k0) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 i_2 k0) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 i_2 k0) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/2 i_2 k0)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/3 k0 i_3 i_4) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/3 k0 i_3 i_4) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 k0 i_3 i_4) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 k0 i_3 i_4) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 k0 i_3 i_4)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/3 k0 i_4 i_5) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/3 k0 i_4 i_5) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 k0 i_4 i_5) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 k0 i_4 i_5) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 k0 i_4 i_5)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/3 i_3 k0 i_4) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/3 i_3 k0 i_4) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 k0 i_4) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 k0 i_4) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 k0 i_4)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/3 i_3 k0 i_5) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/3 i_3 k0 i_5) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 k0 i_5) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 k0 i_5) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 k0 i_5)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/3 i_3 i_4 k0) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/3 i_3 i_4 k0) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 i_4 k0) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 i_4 k0) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/3 i_3 i_4 k0)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/4 k0 i_4 i_5 i_6) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/4 k0 i_4 i_5 i_6) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 k0 i_4 i_5 i_6) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 k0 i_4 i_5 i_6) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 k0 i_4 i_5 i_6)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/4 k0 i_5 i_6 i_7) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/4 k0 i_5 i_6 i_7) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 k0 i_5 i_6 i_7) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 k0 i_5 i_6 i_7) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 k0 i_5 i_6 i_7)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/4 i_4 k0 i_5 i_6) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/4 i_4 k0 i_5 i_6) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 k0 i_5 i_6) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 k0 i_5 i_6) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 k0 i_5 i_6)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/4 i_4 k0 i_6 i_7) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/4 i_4 k0 i_6 i_7) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 k0 i_6 i_7) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 k0 i_6 i_7) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 k0 i_6 i_7)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/4 i_4 i_5 k0 i_6) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/4 i_4 i_5 k0 i_6) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 k0 i_6) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 k0 i_6) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 k0 i_6)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/4 i_4 i_5 k0 i_7) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/4 i_4 i_5 k0 i_7) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 k0 i_7) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 k0 i_7) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 k0 i_7)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/4 i_4 i_5 i_6 k0) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/4 i_4 i_5 i_6 k0) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 i_6 k0) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 i_6 k0) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/4 i_4 i_5 i_6 k0)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 k0 i_5 i_6 i_7 i_8) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 k0 i_5 i_6 i_7 i_8) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 k0 i_5 i_6 i_7 i_8) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 k0 i_5 i_6 i_7 i_8) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 k0 i_5 i_6 i_7 i_8)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 k0 i_6 i_7 i_8 i_9) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 k0 i_6 i_7 i_8 i_9) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 k0 i_6 i_7 i_8 i_9) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 k0 i_6 i_7 i_8 i_9) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 k0 i_6 i_7 i_8 i_9)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 i_5 k0 i_6 i_7 i_8) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 i_5 k0 i_6 i_7 i_8) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 k0 i_6 i_7 i_8) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 k0 i_6 i_7 i_8) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 k0 i_6 i_7 i_8)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 i_5 k0 i_7 i_8 i_9) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 i_5 k0 i_7 i_8 i_9) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 k0 i_7 i_8 i_9) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 k0 i_7 i_8 i_9) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 k0 i_7 i_8 i_9)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 i_5 i_6 k0 i_7 i_8) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 i_5 i_6 k0 i_7 i_8) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 k0 i_7 i_8) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 k0 i_7 i_8) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 k0 i_7 i_8)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 i_5 i_6 k0 i_8 i_9) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 i_5 i_6 k0 i_8 i_9) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 k0 i_8 i_9) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 k0 i_8 i_9) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 k0 i_8 i_9)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 i_5 i_6 i_7 k0 i_8) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 i_5 i_6 i_7 k0 i_8) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 k0 i_8) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 k0 i_8) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 k0 i_8)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 i_5 i_6 i_7 k0 i_9) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 i_5 i_6 i_7 k0 i_9) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 k0 i_9) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 k0 i_9) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 k0 i_9)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
(declare-fun r7 () Real)
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (* (t0_2_0/5 i_5 i_6 i_7 i_8 k0) r6) 0.0))
; r4 is (sum k0 (ite (and (>= k0 0) (< k0 n1)) (t0_2_0/5 i_5 i_6 i_7 i_8 k0) 0.0))
; r3 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 i_8 k0) r6) 0.0))) (sum k0 a!1))
; r7 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 i_8 k0) r6) 0.0))) (sum k0 a!1))
; r5 is (let ((a!1 (ite (and (>= k0 0) (not (<= n1 k0))) (* (f0 n1) (t0_2_0/5 i_5 i_6 i_7 i_8 k0)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r2) r3))
; axiom: a product of sums is the sum of all products
(assert (= (* (f0 n1) r4) r5))
; axiom: a product of sums is the sum of all products
(assert (let ((a!1 (= (* (* (f0 n1) r4) r6) r7))) (=> (= (* (f0 n1) r4) r5) a!1)))
; axiom: sums of equal summands are equal
(assert (= r3 r7))
; the two sides
(assert (not (= (* (f0 n1) r2) (* (f0 n1) r4 r6))))
(check-sat)
(pop)
