"""The shared scene in SPlisHSPlasH: splishsplash.py wcsph|dfsph n threads folder."""
import json, os, sys, time
import pysplishsplash as sph

method, n, threads, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
r = 0.5 / n
dt = (0.04 if method == "wcsph" else 0.15) * r
steps = {31: 12, 46: 8}.get(n, 4)
models = os.path.join(os.path.dirname(sys.executable), "data", "models")
low, high = [-r, -r, -r], [2 + r, 2, 1 + r]
scene = {
    "Configuration": {
        "particleRadius": r, "numberOfStepsPerRenderUpdate": 1, "simulationMethod": 0 if method == "wcsph" else 4,
        "gravitation": [0, -9.81, 0], "cflMethod": 0, "timeStepSize": dt, "stiffness": 50000, "exponent": 7,
        "maxError": 1e-9, "maxErrorV": 1e-9,
        "kernel": 0, "gradKernel": 0, "boundaryHandlingMethod": 0, "enableZSort": True,
    },
    "Materials": [{"id": "Fluid", "density0": 1000, "viscosityMethod": 0, "surfaceTensionMethod": 0}],
    "RigidBodies": [{
        "geometryFile": os.path.join(models, "UnitBox.obj"), "translation": [(a + b) / 2 for a, b in zip(low, high)],
        "scale": [b - a for a, b in zip(low, high)], "isDynamic": False, "isWall": True, "mapInvert": True,
    }],
    "FluidBlocks": [{"denseMode": 0, "start": [0, 0, 0], "end": [1 + r, 1 + r, 1 + r], "translation": [0, 0, 0], "scale": [1, 1, 1]}],
}
path = os.path.join(folder, f"scene-{method}-{n}.json")
with open(path, "w") as file:
    json.dump(scene, file)

times = []
base = sph.Exec.SimulatorBase()
base.init(sceneFile=path, useGui=False, useCache=False, outputDir=os.path.join(folder, "out"), initialPause=False)
base.setTimeStepCB(lambda: times.append(time.perf_counter()))
base.setValueFloat(base.STOP_AT, (steps + 6.5) * dt)
base.initSimulation()
count = sph.Simulation.getCurrent().getFluidModel(0).numActiveParticles()
if method == "dfsph":
    # Exactly two iterations for the density and one for the divergence; the scene file cannot say so.
    solver = sph.Simulation.getCurrent().getTimeStep()
    for key, value in (("MIN_ITERATIONS", 2), ("MAX_ITERATIONS", 2), ("MAX_ITERATIONS_V", 1)):
        solver.setValueUInt(getattr(type(solver), key), value)
base.runSimulation()
if method == "dfsph":
    taken = [solver.getValueUInt(getattr(type(solver), key)) for key in ("SOLVER_ITERATIONS", "SOLVER_ITERATIONS_V")]
    assert taken == [2, 1], taken
# Three steps to warm up, then those that count.
seconds = times[2 + steps] - times[2]
print("%-22s %4d %8s %14.0f" % ("SPlisHSPlasH " + method, n, threads, seconds * 1e9 / count / steps), flush=True)
assert count == n ** 3, count
os._exit(0)
