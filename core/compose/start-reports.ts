import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { version } from '../../config/version.ts';
import { realTimers } from '../contract/values/time/timers.ts';
import { startInstanceReports } from '../control-plane/report-instance.ts';

type Parts = Pick<Parameters<typeof startInstanceReports>[0], 'slot' | 'fetch' | 'clock' | 'log'>;

/** Starts the reports of this process to the control plane, which lists it in its deployment. */
export function startReports(settings: Settings, parts: Parts) {
  return startInstanceReports({
    ...parts,
    directory: join(settings.dataDir, 'instance-ids'),
    about: {
      deployment: settings.deployment,
      tags: settings.deploymentTags ?? {},
      sourceType: settings.deploymentSourceType,
      version,
    },
    staleMs: settings.deploymentStaleSeconds * 1000,
    timers: realTimers,
  });
}
