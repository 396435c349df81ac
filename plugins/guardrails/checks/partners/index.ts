import type { Check } from '../check.ts';
import { acuvity } from './acuvity.ts';
import { akto } from './akto.ts';
import { aporia } from './aporia.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock.ts';
import { cato } from './cato.ts';
import { crowdstrike } from './crowdstrike.ts';
import { f5 } from './f5.ts';
import { generic } from './generic.ts';
import { javelin } from './javelin.ts';
import { lakera } from './lakera.ts';
import { lasso } from './lasso.ts';
import { mistral } from './mistral.ts';
import { pangeaPii, pangeaTextGuard } from './pangea.ts';
import { patronus } from './patronus.ts';
import { pillar } from './pillar.ts';
import { prismaAirs } from './prisma-airs.ts';
import { promptSecurity } from './prompt-security.ts';
import { promptfoo } from './promptfoo.ts';
import { qualifire } from './qualifire.ts';
import { sydelabs } from './sydelabs.ts';
import { walledAi } from './walled-ai.ts';
import { webSearch } from './web-search.ts';
import { zscaler } from './zscaler.ts';

/** Checks that the services of partners decide. None was tried against the live service. */
export const partners: readonly Check[] = [
  ...[
    acuvity,
    akto,
    aporia,
    ...azure,
    bedrock,
    cato,
    crowdstrike,
    f5,
    generic,
    javelin,
    lakera,
    lasso,
    mistral,
    pangeaPii,
    pangeaTextGuard,
  ],
  ...[
    ...patronus,
    ...pillar,
    prismaAirs,
    ...promptSecurity,
    ...promptfoo,
    ...qualifire,
    sydelabs,
    walledAi,
    ...webSearch,
    zscaler,
  ],
];
