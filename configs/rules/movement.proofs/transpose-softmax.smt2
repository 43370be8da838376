; transpose-softmax: Softmax{a}(Transpose{p}(x)) => Transpose{p}(Softmax{p[a]}(x))
; For all dims; 119 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   Exp(t0_2_0[i_4, i_5, i_6, i_7]) inverse(sum k!1367: [(and (>= k!1367 0) (< k!1367 t0_2_0_d_3))] Exp(t0_2_0[i_4, i_5, i_6, k!1367]))
;     and Exp(t0_2_0[i_4, i_5, i_6, i_7]) inverse(sum k!1369: [(and (>= k!1369 0) (< k!1369 t0_2_0_d_3))] Exp(t0_2_0[i_4, i_5, i_6, k!1369]))
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
