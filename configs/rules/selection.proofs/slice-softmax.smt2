; slice-softmax: f:Slice{*, axes=[a]}(Softmax{b}(x)), a != b => Softmax{b}(f(x))
; For all dims; 40 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   Exp(t0_2_0[i_8, i_9, i_10, (+ (* i_11 steps_7) starts_5), i_12]) inverse(sum k!2069: [(and (>= k!2069 0) (< k!2069 t0_2_0_d_4))] Exp(t0_2_0[i_8, i_9, i_10, (+ (* i_11 steps_7) starts_5), k!2069]))
;     and Exp(t0_2_0[i_8, i_9, i_10, (+ (* i_11 steps_7) starts_5), i_12]) inverse(sum k!2071: [(and (>= k!2071 0) (< k!2071 t0_2_0_d_4))] Exp(t0_2_0[i_8, i_9, i_10, (+ (* i_11 steps_7) starts_5), k!2071]))
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(assert (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1)))
(assert (not (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1))))
(check-sat)
(pop)
