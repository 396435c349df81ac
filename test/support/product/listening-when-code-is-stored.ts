import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import module, { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded before the product (`NODE_OPTIONS`). When a process stores its compiled code, it appends a line to the file of STORED_CODE_REPORT: its role,
 * and `listens` if its port accepts connections at this time.
 */
const { flushCompileCache } = module;
const { STORED_CODE_REPORT, HOST, PORT, CONTROL_PLANE_PORT } = process.env;
module.flushCompileCache = () => {
  const role = process.argv[1]?.includes('admin/main') ? 'control-plane' : 'gateway';
  const program = `require('node:net').connect(${role === 'gateway' ? PORT : CONTROL_PLANE_PORT}, '${HOST}')
    .on('connect', () => process.exit(0)).on('error', () => process.exit(1))`;
  // In another process, because this one is blocked while it stores its code.
  const { status } = spawnSync(process.execPath, ['-e', program], { env: {} });
  appendFileSync(STORED_CODE_REPORT as string, `${role}${status === 0 ? ' listens' : ''}\n`);
  flushCompileCache();
};
syncBuiltinESMExports();
