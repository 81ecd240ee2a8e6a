//! Routes for any method, several path parameters, any status and headers.

use plugin_testing::{TestGateway, json};

const PATH: &str = "/keeper/corner/2/15/a/b%20c";

#[tokio::test]
async fn every_method_reaches_the_route_but_those_with_one_of_their_own() {
    let gateway = TestGateway::builder().plugin(keeper::plugin_module()).start().await;
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let answer = gateway.send(method, PATH, &[], "four").await;
        assert_eq!((answer.status, answer.text()), (418, format!("{method} corner 2 15 a/b c 4")));
        let cookies: Vec<_> = answer.headers.get_all("set-cookie").iter().collect();
        assert_eq!(cookies, ["a=1", "b=2"]);
        assert_eq!(answer.headers["content-type"], "text/plain");
    }
    let read = gateway.get(PATH).await;
    assert_eq!((read.status, read.text()), (200, "read corner 2 15 a/b c".to_owned()));
    assert_eq!(gateway.send("HEAD", PATH, &[], "").await.status, 200);
    assert_eq!(gateway.get("/keeper/corner/two/15/a").await.status, 404, "a shelf is a number");

    let options = gateway.send("OPTIONS", PATH, &[], "").await;
    assert_eq!(
        (options.status, &options.headers["allow"]),
        (204, &"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS".parse().unwrap())
    );
    for method in ["ANY", "TRACE", "PROPFIND"] {
        assert_eq!(gateway.send(method, PATH, &[], "").await.status, 405, "{method}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn the_documentation_has_an_operation_for_each_method() {
    let gateway = TestGateway::builder().plugin(keeper::plugin_module()).start().await;
    let document = gateway.get("/api/openapi.json").await.json();
    let item = document["paths"]["/keeper/{shop}/{shelf}/{slot}/{rest}"].as_object().unwrap();
    let operations: Vec<_> =
        item.iter().map(|(method, operation)| (method.as_str(), &operation["operationId"])).collect();
    for (method, id) in [("get", "read_slot"), ("post", "forward_post"), ("delete", "forward_delete")] {
        assert!(operations.contains(&(method, &json!(id))), "{operations:?}");
    }
    assert_eq!(operations.len(), 5, "{operations:?}");
    let parameters = &item["put"]["parameters"];
    let names: Vec<_> = parameters.as_array().unwrap().iter().map(|parameter| &parameter["name"]).collect();
    assert_eq!(names, ["shop", "shelf", "slot", "rest"]);
    gateway.stop().await;
}
