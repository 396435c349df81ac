import { refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { allProbes } from './probes.ts';

refusesUnknownKeys('policies', allProbes);
