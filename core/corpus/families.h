#pragma once

#include "core/corpus/draw.h"
#include "core/corpus/net.h"

namespace regraft::corpus {

// One function a family, each in a file of its name: a whole model, with sizes by `draw`. Sizes may be ones
// that are too large or too small; make_model draws again then. To add a family: one file here, one
// declaration, one row in kFamilies (corpus.cc).
void build_convnext(Net& net, Draw& draw);
void build_decoder(Net& net, Draw& draw);
void build_dense(Net& net, Draw& draw);
void build_detector(Net& net, Draw& draw);
void build_encoder(Net& net, Draw& draw);
void build_inception(Net& net, Draw& draw);
void build_inverted(Net& net, Draw& draw);
void build_mixer(Net& net, Draw& draw);
void build_recommender(Net& net, Draw& draw);
void build_recurrent(Net& net, Draw& draw);
void build_residual(Net& net, Draw& draw);
void build_shuffled(Net& net, Draw& draw);
void build_speech(Net& net, Draw& draw);
void build_unet(Net& net, Draw& draw);
void build_unrolled(Net& net, Draw& draw);
void build_vit(Net& net, Draw& draw);
void build_windowed(Net& net, Draw& draw);

}
