import { refusesMissingScopes } from '../../support/refusal-suites.ts';
import { allProbes } from './probes.ts';

refusesMissingScopes('policies', allProbes);
