; transpose-softmax: Softmax{a}(Transpose{p}(x)) => Transpose{p}(Softmax{p[a]}(x))
; For all dims; 719 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   Exp(t0_2_0[i_5, i_6, i_7, i_8, i_9]) inverse(sum k!9767: [(and (>= k!9767 0) (< k!9767 t0_2_0_d_4))] Exp(t0_2_0[i_5, i_6, i_7, i_8, k!9767]))
;     and Exp(t0_2_0[i_5, i_6, i_7, i_8, i_9]) inverse(sum k!9769: [(and (>= k!9769 0) (< k!9769 t0_2_0_d_4))] Exp(t0_2_0[i_5, i_6, i_7, i_8, k!9769]))
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
