import { stabilityAi } from '../../../../core/providers/stability-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(stabilityAi, { finishReasons: 'as-sent' });
