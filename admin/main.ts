import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runProcess } from './process.ts';

export { type ControlPlane, type ControlPlaneDeps, startControlPlane } from './start-control-plane.ts';

// Run directly (`node admin/main.ts`, or as a child of the supervisor), this file is the control-plane process.
if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await runProcess();
