; gather-gemm: Gather{axis=0}(Gemm{alpha,beta,ta=0,tb}(x, w, c?), i), const(i), rank(i) == 1, not present(c) or rank(c) <= 1 => Gemm{alpha,beta,0,tb}(Gather{0}(x, i), w, c)
; For all dims; 6 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 3 conditions.
; Then whole equalities of both sides as the operations define them: 6 of 6, in 6 blocks.
; Whatever a block takes for granted, of sums and products, is an assertion
; that is called an axiom.
; The last case is
;   sum k!176: [(and (>= k!176 0) (< k!176 t0_2_0_d_1))] alpha_5 t0_2_0[(ite (< (t0_5_0 i_8) 0) (+ (t0_5_0 i_8) t0_2_0_d_0) (t0_5_0 i_8)), k!176] t0_3_0[i_9, k!176] + beta_6 t0_4_0[(ite (= t0_4_0_d_4 1) 0 i_9)]
;     and sum k!179: [(and (>= k!179 0) (< k!179 t0_2_0_d_1))] alpha_5 t0_2_0[(ite (< (t0_5_0 i_8) 0) (+ (t0_5_0 i_8) t0_2_0_d_0) (t0_5_0 i_8)), k!179] t0_3_0[i_9, k!179] + beta_6 t0_4_0[(ite (= t0_4_0_d_4 1) 0 i_9)]
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
(assert (not (= (ite (= n0 1) n1 n0) n0)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
; r1 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 k0 i_8)) 0.0)))
; r3 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 k0 i_8)) 0.0)))
; r2 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 k0 i_8)) 0.0))) (sum k0 a!2)))
; r4 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 k0 i_8)) 0.0))) (sum k0 a!2)))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r1) r2))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r3) r4))
; axiom: sums of equal summands are equal
(assert (= r2 r4))
; the two sides
(assert (not (= (* r0 r1) (* r0 r3))))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
; r1 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 i_8 k0)) 0.0)))
; r3 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 i_8 k0)) 0.0)))
; r2 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 i_8 k0)) 0.0))) (sum k0 a!2)))
; r4 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 i_8 k0)) 0.0))) (sum k0 a!2)))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r1) r2))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r3) r4))
; axiom: sums of equal summands are equal
(assert (= r2 r4))
; the two sides
(assert (not (= (* r0 r1) (* r0 r3))))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
; r1 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 k0 i_8)) 0.0)))
; r3 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 k0 i_8)) 0.0)))
; r2 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 k0 i_8)) 0.0))) (sum k0 a!2)))
; r4 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 k0 i_8)) 0.0))) (sum k0 a!2)))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r1) r2))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r3) r4))
; axiom: sums of equal summands are equal
(assert (= r2 r4))
; the two sides
(assert (not (= (+ (* r0 r1) (* r5 r6)) (+ (* r0 r3) (* r5 r6)))))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun r6 () Real)
; r1 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 i_8 k0)) 0.0)))
; r3 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 i_8 k0)) 0.0)))
; r2 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 i_8 k0)) 0.0))) (sum k0 a!2)))
; r4 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_7)) (t0_5_0 i_7) (+ (t0_5_0 i_7) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 i_8 k0)) 0.0))) (sum k0 a!2)))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r1) r2))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r3) r4))
; axiom: sums of equal summands are equal
(assert (= r2 r4))
; the two sides
(assert (not (= (+ (* r0 r1) (* r5 r6)) (+ (* r0 r3) (* r5 r6)))))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun f6 (Int) Real)
(declare-fun n7 () Int)
(declare-fun n8 () Int)
; r1 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_8)) (t0_5_0 i_8) (+ (t0_5_0 i_8) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 k0 n8)) 0.0)))
; r3 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_8)) (t0_5_0 i_8) (+ (t0_5_0 i_8) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 k0 n8)) 0.0)))
; r2 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_8)) (t0_5_0 i_8) (+ (t0_5_0 i_8) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 k0 n8)) 0.0))) (sum k0 a!2)))
; r4 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_8)) (t0_5_0 i_8) (+ (t0_5_0 i_8) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 k0 n8)) 0.0))) (sum k0 a!2)))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r1) r2))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r3) r4))
; axiom: sums of equal summands are equal
(assert (= r2 r4))
; the two sides
(assert (let ((a!1 (* r5 (f6 (ite (= n7 1) 0 n8))))) (not (= (+ (* r0 r1) a!1) (+ (* r0 r3) a!1)))))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
(declare-fun r3 () Real)
(declare-fun r4 () Real)
(declare-fun r5 () Real)
(declare-fun f6 (Int) Real)
(declare-fun n7 () Int)
(declare-fun n8 () Int)
; r1 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_8)) (t0_5_0 i_8) (+ (t0_5_0 i_8) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 n8 k0)) 0.0)))
; r3 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_8)) (t0_5_0 i_8) (+ (t0_5_0 i_8) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 n8 k0)) 0.0)))
; r2 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_8)) (t0_5_0 i_8) (+ (t0_5_0 i_8) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 n8 k0)) 0.0))) (sum k0 a!2)))
; r4 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_5_0 i_8)) (t0_5_0 i_8) (+ (t0_5_0 i_8) t0_2_0_d_0)) k0))) (let ((a!2 (ite (and (>= k0 0) (not (<= t0_2_0_d_1 k0))) (* r0 a!1 (t0_3_0/2 n8 k0)) 0.0))) (sum k0 a!2)))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r1) r2))
; axiom: a product of sums is the sum of all products
(assert (= (* r0 r3) r4))
; axiom: sums of equal summands are equal
(assert (= r2 r4))
; the two sides
(assert (let ((a!1 (* r5 (f6 (ite (= n7 1) 0 n8))))) (not (= (+ (* r0 r1) a!1) (+ (* r0 r3) a!1)))))
(check-sat)
(pop)
