; gather-rows: Gather{a}(MatMul(x, y), i), const(i), rank(i) == 1, rank(x) == rank(y), a == rank(x) - 2 => MatMul(Gather{a}(x, i), y)
; For all dims; 4 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; Then whole equalities of both sides as the operations define them: 4 of 4, in 4 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   sum k!97: [(and (>= k!97 0) (< k!97 t0_2_0_d_4))] t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_11), (ite (= t0_2_0_d_1 1) 0 i_12), (ite (= t0_2_0_d_2 1) 0 i_13), (ite (< (t0_4_0 i_14) 0) (+ (t0_4_0 i_14) t0_2_0_d_3) (t0_4_0 i_14)), k!97] t0_3_0[(ite (= t0_3_0_d_5 1) 0 i_11), (ite (= t0_3_0_d_6 1) 0 i_12), (ite (= t0_3_0_d_7 1) 0 i_13), k!97, i_15]
;     and sum k!99: [(and (>= k!99 0) (< k!99 t0_2_0_d_4))] t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_11), (ite (= t0_2_0_d_1 1) 0 i_12), (ite (= t0_2_0_d_2 1) 0 i_13), (ite (< (t0_4_0 i_14) 0) (+ (t0_4_0 i_14) t0_2_0_d_3) (t0_4_0 i_14)), k!99] t0_3_0[(ite (= t0_3_0_d_5 1) 0 i_11), (ite (= t0_3_0_d_6 1) 0 i_12), (ite (= t0_3_0_d_7 1) 0 i_13), k!99, i_15]
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
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_4_0 i_5)) (t0_4_0 i_5) (+ (t0_4_0 i_5) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 k0 i_6)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/2 (ite (<= 0 (t0_4_0 i_5)) (t0_4_0 i_5) (+ (t0_4_0 i_5) t0_2_0_d_0)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* a!1 (t0_3_0/2 k0 i_6)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/3 (ite (= t0_2_0_d_0 1) 0 i_7) (ite (<= 0 (t0_4_0 i_8)) (t0_4_0 i_8) (+ (t0_4_0 i_8) t0_2_0_d_1)) k0))) (let ((a!2 (* a!1 (t0_3_0/3 (ite (= t0_3_0_d_3 1) 0 i_7) k0 i_9)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) a!2 0.0))))
; r1 is (let ((a!1 (t0_2_0/3 (ite (= t0_2_0_d_0 1) 0 i_7) (ite (<= 0 (t0_4_0 i_8)) (t0_4_0 i_8) (+ (t0_4_0 i_8) t0_2_0_d_1)) k0))) (let ((a!2 (* a!1 (t0_3_0/3 (ite (= t0_3_0_d_3 1) 0 i_7) k0 i_9)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) a!2 0.0))))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/4 (ite (= t0_2_0_d_0 1) 0 i_9) (ite (= t0_2_0_d_1 1) 0 i_10) (ite (<= 0 (t0_4_0 i_11)) (t0_4_0 i_11) (+ (t0_4_0 i_11) t0_2_0_d_2)) k0))) (let ((a!2 (* a!1 (t0_3_0/4 (ite (= t0_3_0_d_4 1) 0 i_9) (ite (= t0_3_0_d_5 1) 0 i_10) k0 i_12)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!2 0.0))))
; r1 is (let ((a!1 (t0_2_0/4 (ite (= t0_2_0_d_0 1) 0 i_9) (ite (= t0_2_0_d_1 1) 0 i_10) (ite (<= 0 (t0_4_0 i_11)) (t0_4_0 i_11) (+ (t0_4_0 i_11) t0_2_0_d_2)) k0))) (let ((a!2 (* a!1 (t0_3_0/4 (ite (= t0_3_0_d_4 1) 0 i_9) (ite (= t0_3_0_d_5 1) 0 i_10) k0 i_12)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!2 0.0))))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/5 (ite (= t0_2_0_d_0 1) 0 i_11) (ite (= t0_2_0_d_1 1) 0 i_12) (ite (= t0_2_0_d_2 1) 0 i_13) (ite (<= 0 (t0_4_0 i_14)) (t0_4_0 i_14) (+ (t0_4_0 i_14) t0_2_0_d_3)) k0))) (let ((a!2 (* a!1 (t0_3_0/5 (ite (= t0_3_0_d_5 1) 0 i_11) (ite (= t0_3_0_d_6 1) 0 i_12) (ite (= t0_3_0_d_7 1) 0 i_13) k0 i_15)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!2 0.0))))
; r1 is (let ((a!1 (t0_2_0/5 (ite (= t0_2_0_d_0 1) 0 i_11) (ite (= t0_2_0_d_1 1) 0 i_12) (ite (= t0_2_0_d_2 1) 0 i_13) (ite (<= 0 (t0_4_0 i_14)) (t0_4_0 i_14) (+ (t0_4_0 i_14) t0_2_0_d_3)) k0))) (let ((a!2 (* a!1 (t0_3_0/5 (ite (= t0_3_0_d_5 1) 0 i_11) (ite (= t0_3_0_d_6 1) 0 i_12) (ite (= t0_3_0_d_7 1) 0 i_13) k0 i_15)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!2 0.0))))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
