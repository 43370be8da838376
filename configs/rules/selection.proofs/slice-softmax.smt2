; slice-softmax: f:Slice{*, axes=[a]}(Softmax{b}(x)), a != b => Softmax{b}(f(x))
; For all dims; 8 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   Exp(t0_2_0[i_6, (+ (* i_7 steps_5) starts_3), i_8]) inverse(sum k!151: [(and (>= k!151 0) (< k!151 t0_2_0_d_2))] Exp(t0_2_0[i_6, (+ (* i_7 steps_5) starts_3), k!151]))
;     and Exp(t0_2_0[i_6, (+ (* i_7 steps_5) starts_3), i_8]) inverse(sum k!153: [(and (>= k!153 0) (< k!153 t0_2_0_d_2))] Exp(t0_2_0[i_6, (+ (* i_7 steps_5) starts_3), k!153]))
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
