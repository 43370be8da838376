; gather-batch-norm: Gather{axis=1}(BatchNormalization{e}(x, s, b, m, v), i), const(s, b, m, v, i), rank(i) == 1 => BatchNormalization{e}(Gather{1}(x, i), Gather{0}(s, i), Gather{0}(b, i), Gather{0}(m, i), Gather{0}(v, i))
; For all dims; 4 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   t0_2_0[i_11, (ite (< (t0_7_0 i_12) 0) (+ (t0_7_0 i_12) t0_2_0_d_1) (t0_7_0 i_12)), i_13, i_14, i_15] t0_3_0[(ite (< (t0_7_0 i_12) 0) (+ (t0_7_0 i_12) t0_2_0_d_1) (t0_7_0 i_12))] inverse(Sqrt(t0_6_0[(ite (< (t0_7_0 i_12) 0) (+ (t0_7_0 i_12) t0_2_0_d_1) (t0_7_0 i_12))] + epsilon_9)) + -1 t0_5_0[(ite (< (t0_7_0 i_12) 0) (+ (t0_7_0 i_12) t0_2_0_d_1) (t0_7_0 i_12))] t0_3_0[(ite (< (t0_7_0 i_12) 0) (+ (
;     and t0_2_0[i_11, (ite (< (t0_7_0 i_12) 0) (+ (t0_7_0 i_12) t0_2_0_d_1) (t0_7_0 i_12)), i_13, i_14, i_15] t0_3_0[(ite (< (t0_7_0 i_12) 0) (+ (t0_7_0 i_12) t0_3_0_d_5) (t0_7_0 i_12))] inverse(Sqrt(t0_6_0[(ite (< (t0_7_0 i_12) 0) (+ (t0_7_0 i_12) t0_6_0_d_8) (t0_7_0 i_12))] + epsilon_9)) + -1 t0_5_0[(ite (< (t0_7_0 i_12) 0) (+ (t0_7_0 i_12) t0_5_0_d_7) (t0_7_0 i_12))] t0_3_0[(ite (< (t0_7_0 i_12) 0
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(declare-fun f2 (Int) Int)
(declare-fun n3 () Int)
(assert (= n0 n1))
(assert (let ((a!1 (= (ite (<= 0 (f2 n3)) (f2 n3) (+ (f2 n3) n1)) (ite (<= 0 (f2 n3)) (f2 n3) (+ (f2 n3) n0))))) (not a!1)))
(check-sat)
(pop)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun f3 (Int) Int)
(declare-fun n4 () Int)
(assert (= n0 n1))
(assert (= n2 n1))
(assert (let ((a!1 (ite (<= 0 (f3 n4)) (f3 n4) (+ (f3 n4) n1)))) (let ((a!2 (= a!1 (ite (<= 0 (f3 n4)) (f3 n4) (+ (f3 n4) n2)))) (a!3 (= a!1 (ite (<= 0 (f3 n4)) (f3 n4) (+ (f3 n4) n0))))) (not (and a!2 a!3)))))
(check-sat)
(pop)
