# SPDX-License-Identifier: Apache-2.0
"""`assay calibrate`: A/A trials through the whole service, and where their error is shown."""

import shutil
import urllib.request

from assay_command import SAMPLES


def test_calibrate(assay, tmp_path):
    for name in ["mlp", "normalisations"]:
        shutil.copytree(SAMPLES / name, tmp_path / "few" / name)
    assay.run("import", tmp_path / "few", "--suite", "calibrated")
    assert "no device is calibrated" in assay.run("workers").stdout

    calibrations = assay.json("calibrate", "--suite", "calibrated", "--target", "eager", "--trials", 10)["calibrations"]
    assert [c["oneProcess"] for c in calibrations] == [True, False]
    for calibration in calibrations:
        assert calibration["device"] == "cpu"
        assert calibration["trials"] + calibration["leftOut"] == 10
        assert 0 < calibration["medianError"] <= calibration["p95Error"] <= calibration["maxError"]
        assert calibration["environmentHash"]

    # The measurements say how they were taken.
    for calibration in calibrations:
        measurement = assay.json("show", calibration["evaluationIds"][0], "mlp")["measurements"][0]
        assert measurement["timing"]["oneProcess"] == calibration["oneProcess"]

    shown = assay.json("workers")["workers"][0]["calibrations"]
    assert sorted(c["p95Error"] for c in shown) == sorted(c["p95Error"] for c in calibrations)
    assert "A/A error of the devices" in assay.run("workers").stdout

    assay.run("evaluate", "--suite", "calibrated", "--target", "torchscript", "--policy", "sweep", "--wait")
    board = assay.json("leaderboard", "--suite", "calibrated")
    entries = [e for s in board["sections"] for e in s["entries"] if e["evaluation"]["candidate"]["compiler"] == "torchscript"]
    assert [e["calibrationP95"] for e in entries] == [calibrations[0]["p95Error"]]
    assert [e["noisyDevice"] for e in entries] == [calibrations[0]["p95Error"] > 0.02]

    with urllib.request.urlopen(assay.address["http"] + "/metrics") as answer:
        assert 'assay_calibration_error_ratio{device="cpu",' in answer.read().decode()
