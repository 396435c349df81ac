import { refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { probes } from './probes.ts';

refusesUnknownKeys('prompts', probes('any').slice(0, 2));
refusesMissingScopes('prompts', probes('any'));
