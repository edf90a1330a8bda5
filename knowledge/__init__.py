import os

# onnxruntime reports models and errors to its maker, and keeps a device id under the home, unless this is set before it is loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
