import { refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { probes } from './probes.ts';

refusesUnknownKeys('guardrails', probes('any'));
