import { mock } from '../../../../core/providers/mock/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(mock, { finishReasons: 'as-sent' });
