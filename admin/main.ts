import { runProcess } from './process.ts';

/** The control-plane process: child of the supervisor, or started alone. */
await runProcess();
