; gemm-transposed: Gemm{alpha,beta,ta,tb=1}(x, w, c?), const(w) => Gemm{alpha,beta,ta,0}(x, Transpose{[1, 0]}(w), c)
; For all dims; 8 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 3 conditions.
; The last case is
;   sum k!92: [(and (>= k!92 0) (< k!92 t0_1_0_d_0))] alpha_6 t0_1_0[k!92, i_8] t0_2_0[i_9, k!92] + beta_7 t0_3_0[(ite (= t0_3_0_d_4 1) 0 i_8), (ite (= t0_3_0_d_5 1) 0 i_9)]
;     and sum k!95: [(and (>= k!95 0) (< k!95 t0_1_0_d_0))] alpha_6 t0_1_0[k!95, i_8] t0_2_0[i_9, k!95] + beta_7 t0_3_0[(ite (= t0_3_0_d_4 1) 0 i_8), (ite (= t0_3_0_d_5 1) 0 i_9)]
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
