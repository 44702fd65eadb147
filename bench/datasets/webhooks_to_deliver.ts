import type { Dataset } from '../rig/rig.ts'

export interface Batch {
  configurationId: string
  /** What the consumer is sent. */
  bodies: string[]
}

/** Batches of fired events of shipments, each for a configuration of its own and not due yet. */
export const webhooksToDeliver = (
  batches: number,
  deliveries: number,
  consumerUrl: string,
): Dataset<{ batches: Batch[] }> => ({
  name: 'webhooks_to_deliver',
  seed: async (sql) => {
    const made: Batch[] = []
    for (let batch = 0; batch < batches; batch += 1) {
      const [configuration] = await sql<{ id: string; business_id: string }[]>`
        with business as (insert into api.businesses (name) values (${`Shipper ${batch}`}) returning id)
        insert into api.webhook_configurations (business_id, hook_consumer_url, producer_url)
        select id, ${consumerUrl}, ${consumerUrl} from business
        returning id, business_id`
      if (configuration === undefined) throw new Error('the configuration was not inserted')
      const { id: configurationId, business_id: businessId } = configuration
      await sql`
        insert into api.webhook_configuration_actions (business_id, webhook_configuration_id, action)
        values (${businessId}, ${configurationId}, 'shipment.created')`
      await sql`
        insert into api.shipments (business_id, shipment_number, carrier, tracking_number)
        select ${businessId}, 'SHP-' || n, 'Sea', 'TRACK-' || n from generate_series(1, ${deliveries}::integer) n`
      for (;;) {
        const [row] = await sql<{ fired: number }[]>`select fired from internal.fire_events()`
        if (row === undefined || row.fired === 0) break
      }
      const payloads = await sql<{ body: string }[]>`
        update api.webhook_deliveries set next_attempt_time = now() + interval '1 day'
        where webhook_configuration_id = ${configurationId}
        returning payload::text as body`
      made.push({ configurationId, bodies: payloads.map(({ body }) => body) })
    }
    await sql`delete from graphile_worker._private_jobs`
    return { batches: made }
  },
})
