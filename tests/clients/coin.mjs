// Reads the coin as users of a price aggregator do, with @coingecko/coingecko-typescript, and prints what it understood.
//
//     node coin.mjs BASE_URL COIN_ID

import Coingecko from '@coingecko/coingecko-typescript';

const [baseUrl, coinId] = process.argv.slice(2);
const client = new Coingecko({ baseURL: `${baseUrl}/api/market/coingecko`, demoAPIKey: 'none', maxRetries: 0 });
const { id, symbol, name, market_data: data, last_updated: updated } = await client.coins.getID(coinId);
const chart = await client.coins.marketChart.get(coinId, { vs_currency: 'usd', days: '7' });
const unknown = await client.coins.getID('nobody').then(() => 200, (error) => error.status);
console.log(
  JSON.stringify({
    id, symbol, name, updated, chart, unknown,
    usd: data.current_price.usd,
    marketCap: data.market_cap.usd,
    total: data.total_supply,
    circulating: data.circulating_supply,
    max: data.max_supply,
  }),
);
