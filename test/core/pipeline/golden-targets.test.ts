import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseGatewayConfig } from '../../../core/contract/plugin/config/gateway-config.ts';
import { compileTargets } from '../../../core/pipeline/plan/compile-targets.ts';
import { settingNames } from '../../../core/providers/declarations.ts';

/** `<name>.config.json` goes in, `<name>.targets.txt` must come out. `vitest -u` writes what comes out now. */
const folder = join(import.meta.dirname, 'golden-targets');
const names = readdirSync(folder).flatMap((file) =>
  file.endsWith('.config.json') ? [file.slice(0, -'.config.json'.length)] : [],
);

it.each(names)('%s compiles to its flat targets', async (name) => {
  const parsed = parseGatewayConfig(JSON.parse(readFileSync(join(folder, `${name}.config.json`), 'utf8')), settingNames);
  if ('errors' in parsed) throw new Error(parsed.errors.join('\n'));
  const targets = compileTargets(parsed.config, settingNames).map((target) => ({
    ...target,
    credentials: Object.fromEntries(Object.entries(target.credentials).map(([key, secret]) => [key, secret.reveal()])),
  }));
  await expect(`${JSON.stringify(targets, null, 2)}\n`).toMatchFileSnapshot(join(folder, `${name}.targets.txt`));
});
