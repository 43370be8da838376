; gather-linear: Gather{a}(MatMul(x, w), i), const(i), rank(i) == 1, rank(w) == 2, a < rank(x) - 1 => MatMul(Gather{a}(x, i), w)
; For all dims; 10 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; Then whole equalities of both sides as the operations define them: 10 of 10, in 10 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   sum k!625: [(and (>= k!625 0) (< k!625 t0_2_0_d_4))] t0_2_0[i_8, i_9, i_10, (ite (< (t0_4_0 i_11) 0) (+ (t0_4_0 i_11) t0_2_0_d_3) (t0_4_0 i_11)), k!625] t0_3_0[k!625, i_12]
;     and sum k!627: [(and (>= k!627 0) (< k!627 t0_2_0_d_4))] t0_2_0[i_8, i_9, i_10, (ite (< (t0_4_0 i_11) 0) (+ (t0_4_0 i_11) t0_2_0_d_3) (t0_4_0 i_11)), k!627] t0_3_0[k!627, i_12]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
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
; r0 is (let ((a!1 (t0_2_0/3 (ite (<= 0 (t0_4_0 i_6)) (t0_4_0 i_6) (+ (t0_4_0 i_6) t0_2_0_d_0)) i_7 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) (* a!1 (t0_3_0/2 k0 i_8)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/3 (ite (<= 0 (t0_4_0 i_6)) (t0_4_0 i_6) (+ (t0_4_0 i_6) t0_2_0_d_0)) i_7 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) (* a!1 (t0_3_0/2 k0 i_8)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/3 i_6 (ite (<= 0 (t0_4_0 i_7)) (t0_4_0 i_7) (+ (t0_4_0 i_7) t0_2_0_d_1)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) (* a!1 (t0_3_0/2 k0 i_8)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/3 i_6 (ite (<= 0 (t0_4_0 i_7)) (t0_4_0 i_7) (+ (t0_4_0 i_7) t0_2_0_d_1)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) (* a!1 (t0_3_0/2 k0 i_8)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/4 (ite (<= 0 (t0_4_0 i_7)) (t0_4_0 i_7) (+ (t0_4_0 i_7) t0_2_0_d_0)) i_8 i_9 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) (* a!1 (t0_3_0/2 k0 i_10)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/4 (ite (<= 0 (t0_4_0 i_7)) (t0_4_0 i_7) (+ (t0_4_0 i_7) t0_2_0_d_0)) i_8 i_9 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) (* a!1 (t0_3_0/2 k0 i_10)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/4 i_7 (ite (<= 0 (t0_4_0 i_8)) (t0_4_0 i_8) (+ (t0_4_0 i_8) t0_2_0_d_1)) i_9 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) (* a!1 (t0_3_0/2 k0 i_10)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/4 i_7 (ite (<= 0 (t0_4_0 i_8)) (t0_4_0 i_8) (+ (t0_4_0 i_8) t0_2_0_d_1)) i_9 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) (* a!1 (t0_3_0/2 k0 i_10)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/4 i_7 i_8 (ite (<= 0 (t0_4_0 i_9)) (t0_4_0 i_9) (+ (t0_4_0 i_9) t0_2_0_d_2)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) (* a!1 (t0_3_0/2 k0 i_10)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/4 i_7 i_8 (ite (<= 0 (t0_4_0 i_9)) (t0_4_0 i_9) (+ (t0_4_0 i_9) t0_2_0_d_2)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) (* a!1 (t0_3_0/2 k0 i_10)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/5 (ite (<= 0 (t0_4_0 i_8)) (t0_4_0 i_8) (+ (t0_4_0 i_8) t0_2_0_d_0)) i_9 i_10 i_11 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* a!1 (t0_3_0/2 k0 i_12)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/5 (ite (<= 0 (t0_4_0 i_8)) (t0_4_0 i_8) (+ (t0_4_0 i_8) t0_2_0_d_0)) i_9 i_10 i_11 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* a!1 (t0_3_0/2 k0 i_12)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/5 i_8 (ite (<= 0 (t0_4_0 i_9)) (t0_4_0 i_9) (+ (t0_4_0 i_9) t0_2_0_d_1)) i_10 i_11 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* a!1 (t0_3_0/2 k0 i_12)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/5 i_8 (ite (<= 0 (t0_4_0 i_9)) (t0_4_0 i_9) (+ (t0_4_0 i_9) t0_2_0_d_1)) i_10 i_11 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* a!1 (t0_3_0/2 k0 i_12)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/5 i_8 i_9 (ite (<= 0 (t0_4_0 i_10)) (t0_4_0 i_10) (+ (t0_4_0 i_10) t0_2_0_d_2)) i_11 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* a!1 (t0_3_0/2 k0 i_12)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/5 i_8 i_9 (ite (<= 0 (t0_4_0 i_10)) (t0_4_0 i_10) (+ (t0_4_0 i_10) t0_2_0_d_2)) i_11 k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* a!1 (t0_3_0/2 k0 i_12)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_2_0/5 i_8 i_9 i_10 (ite (<= 0 (t0_4_0 i_11)) (t0_4_0 i_11) (+ (t0_4_0 i_11) t0_2_0_d_3)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* a!1 (t0_3_0/2 k0 i_12)) 0.0)))
; r1 is (let ((a!1 (t0_2_0/5 i_8 i_9 i_10 (ite (<= 0 (t0_4_0 i_11)) (t0_4_0 i_11) (+ (t0_4_0 i_11) t0_2_0_d_3)) k0))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* a!1 (t0_3_0/2 k0 i_12)) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
