; slice-unary: f:Slice{*}(g:Unary(x)) => g(f(x))
; For all dims; 58 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   f1(t0_2_0[(+ (* i_20 steps_15) starts_5), (+ (* i_21 steps_16) starts_6), (+ (* i_22 steps_17) starts_7), (+ (* i_23 steps_18) starts_8), (+ (* i_24 steps_19) starts_9)])
;     and f1(t0_2_0[(+ (* i_20 steps_15) starts_5), (+ (* i_21 steps_16) starts_6), (+ (* i_22 steps_17) starts_7), (+ (* i_23 steps_18) starts_8), (+ (* i_24 steps_19) starts_9)])
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
