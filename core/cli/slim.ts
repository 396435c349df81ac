import { fileURLToPath } from 'node:url';
import { slimInstall } from './slim-install.ts';

/** `npm run slim`: makes an installation smaller for the machine it is on. */
const { platform, arch, versions } = process;
const removed = slimInstall(fileURLToPath(new URL('../../node_modules', import.meta.url)), {
  platform,
  arch,
  modules: versions.modules,
});
process.stdout.write(`removed ${Math.round(removed / 1e6)} MB that this machine does not need\n`);
