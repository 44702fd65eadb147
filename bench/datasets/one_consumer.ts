import type { Dataset } from '../rig/rig.ts'

/** A business with one consumer, which is told of shipments as soon as they are created. */
export const oneConsumer = (consumerUrl: string): Dataset<{ businessId: string }> => ({
  name: 'one_consumer',
  seed: async (sql) => {
    const [configuration] = await sql<{ business_id: string }[]>`
      with business as (insert into api.businesses (name) values ('Shipper') returning id)
      insert into api.webhook_configurations (business_id, hook_consumer_url, producer_url, is_immediate)
      select id, ${consumerUrl}, ${consumerUrl}, true from business
      returning business_id`
    if (configuration === undefined) throw new Error('the configuration was not inserted')
    await sql`
      insert into api.webhook_configuration_actions (business_id, webhook_configuration_id, action)
      select business_id, id, 'shipment.created' from api.webhook_configurations`
    return { businessId: configuration.business_id }
  },
})
