import { resourceNames } from '../../core/contract/protocol/resources.ts';
import type { Resource } from '../define-resource.ts';

/** Every resource of the control plane. `admin/tables.ts` computes the tables from this list. */
export const listedResources: readonly Resource[] = await Promise.all(
  resourceNames.map(async (name) => {
    const exported = (await import(`./${name}/resource.ts`)) as Readonly<Record<string, Resource>>;
    const [resource] = Object.values(exported);
    if (!resource) throw new Error(`admin/resources/${name}/resource.ts exports no resource`);
    return resource;
  }),
);
